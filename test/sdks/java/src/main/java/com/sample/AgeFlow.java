package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafFlow;

@IceNode(name = "Age check")
public class AgeFlow extends BaseLeafFlow {
    @IceField(name = "minimum")
    public long min;

    @Override
    protected boolean doFlow(IceRoam roam) {
        Object age = roam.get("age");
        return age instanceof Number && ((Number) age).doubleValue() >= min;
    }
}
