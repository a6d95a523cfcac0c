package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafNone;

@IceNode(desc = "copies roam[key] and names the type this language gave it")
public class EchoNone extends BaseLeafNone {
    @IceField(name = "key")
    public String key = "value";

    @Override
    protected void doNone(IceRoam roam) {
        Object value = roam.get(key);
        String type = value == null ? "null" : value.getClass().getSimpleName();
        roam.put("echo", value);
        roam.put("echoType", type);
    }
}
