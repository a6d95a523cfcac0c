package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafFlow;

public class BoomFlow extends BaseLeafFlow {
    @IceField(name = "text")
    public String text = "kaboom";

    @Override
    protected boolean doFlow(IceRoam roam) {
        throw new IllegalStateException(text);
    }
}
